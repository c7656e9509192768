fuzz_target(scram weir_auth)
fuzz_target(verifier weir_auth)
