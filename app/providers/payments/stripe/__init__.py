"""The payment provider Stripe."""
