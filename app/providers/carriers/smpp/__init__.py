"""SMPP 3.4, the protocol by which carriers and aggregators connect: an ESME that binds to one SMSC as a transceiver."""
