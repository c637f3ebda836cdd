"""Engines: who computes chunks of cases, processes of this machine or a cluster, behind one small interface."""
