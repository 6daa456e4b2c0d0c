"""Read facts of D0 from files and databases: `init from "orders.csv" into Owner(order, user)`."""
