"""The public names of `stead_sym.certificate`, and where each comes from when it is first used."""

from .verdict import CertificateRejected as CertificateRejected
from .verdict import CheckedCertificate as CheckedCertificate
