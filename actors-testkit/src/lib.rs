//! Tests of actors, virtual time, probes, stand-ins.
