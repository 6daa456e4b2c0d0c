"""The public names of `stead_sym.certificate`, and where each comes from when it is first used."""

from .verdict import CertificateRejected, CheckedCertificate

__all__ = [  # noqa: RUF022 - in groups
    # certificates
    "CheckedCertificate",
    # errors
    "CertificateRejected",
]
