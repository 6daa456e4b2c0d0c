"""The desk as `refunds.stead` sees it."""

from __future__ import annotations

from dataclasses import replace

from refund_app import tools
from refund_app.faults import cancel_what_it_read
from refund_app.models import Base
from stead_sym.conformance.binding import Binding

binding = Binding(
    database="sqlite://",
    scratch=True,
    schema=Base.metadata.create_all,
    tools={
        "open_refund": tools.open_refund,
        "approve_refund": tools.approve_refund,
        "pay_refund": tools.pay_refund,
        "cancel_order": tools.cancel_order,
    },
    defaults={"staff": {"name": "somebody"}, "orders": {"total": 20}},
)

lost_update = replace(binding, tools={**binding.tools, "cancel_order": cancel_what_it_read})
