/**
 * With what clients of Anthropic's begin their system prompt for its bills. It is
 * another with each request, and says nothing of the prompt.
 */
export const billingLine = /^x-anthropic-billing-header:[^\n]*\n*/;
