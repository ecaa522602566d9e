/**
 * Paths at which a vendor hands out a further credential of whoever asks, or connects whoever asks by itself: what is
 * used with it goes past the gateway, and nobody counts it. Or webhooks of the whole account, which tell one address what all
 * that share the credential do, and hand out a secret to sign with: OpenAI's `/webhook_endpoints`, Google's and Replicate's
 * `/webhooks` (openai 7.59, @google/genai 3.3). Named as vendors name them today: OpenAI's
 * `/live/sessions`, `/chatkit/sessions`, `/organization/…/service_accounts`; Google's `/auth_tokens`
 * (https://ai.google.dev/gemini-api/docs/ephemeral-tokens); Deepgram's `/auth/grant` and `/projects/…/keys`;
 * ElevenLabs' `/single-use-token`, `/convai/conversation/get-signed-url` and `…/token`; Cartesia's `/access-token`;
 * Databricks' `/token/create`; Fireworks' `…/apiKeys`; Anthropic's `/tunnels/…/reveal_token`, and `/user_profiles/…/enrollment_url`. November 2026.
 */
const names: ReadonlySet<string> = new Set(
  `clientsecret clientsecrets authtoken authtokens accesstoken accesstokens apikey apikeys adminapikeys
  serviceaccount serviceaccounts singleusetoken singleusetokens ephemeraltoken ephemeraltokens ephemeralkeys
  getsignedurl webhookendpoints webhooks revealtoken rotatetoken enrollmenturl actionurls`.split(
    /\s+/,
  ),
);

/** One behind the other. */
const pairs: ReadonlySet<string> = new Set(
  `auth/grant chatkit/sessions conversation/token live/sessions realtime/sessions realtime/transcriptionsessions
  realtimeapi/sessions token/create`.split(/\s+/),
);

/** At the end. */
const lasts: ReadonlySet<string> = new Set(['keys', 'token']);

/** However it is spelt. @param path without the query */
export function handsOutSecrets(path: string): boolean {
  const words = decoded(path)
    .toLowerCase()
    .split(/[/\\:;]+/)
    .map((word) => word.replaceAll(/[^a-z0-9]/g, ''))
    .filter((word) => word !== '');
  return (
    lasts.has(words.at(-1) ?? '') ||
    words.some((word, at) => names.has(word) || pairs.has(`${words[at - 1]}/${word}`))
  );
}

/** Each byte that is escaped; what is no escape stays. */
function decoded(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
