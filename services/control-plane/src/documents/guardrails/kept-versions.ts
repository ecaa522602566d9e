/** Of each guardrail, the latest of which gateways hold; the triggers of `bundle_changes` say the same. */
export const guardrailVersionsKept = 100;
