import { describe, expect, it } from 'vitest';
import { handsOutSecrets } from './vendor-secrets.ts';

/** As vendors name them. */
const handing = `
  /live/sessions /v1/live/sessions/live_1/fork /v1/chatkit/sessions /v1/organization/admin_api_keys
  /v1/organization/projects/p/service_accounts /v1/realtime/client_secrets /v1/realtime/sessions
  /openai/realtimeapi/sessions /v1beta/auth_tokens /v1alpha/authTokens:create /v1/auth/grant
  /v1/projects/p/keys /v1/keys /v1/single-use-token/realtime_scribe /access-token
  /v1/convai/conversation/get-signed-url /v1/convai/conversation/get_signed_url /v1/convai/conversation/token
  /api/2.0/token/create /accounts/a/users/u/apiKeys /v3/token /v1/api-keys
  /v1/webhook_endpoints /v1/webhook_endpoints/we_1/rotate_secret /v1beta/webhooks /v1beta/webhooks/w:ping
  /v1/webhooks/default/secret /v1/tunnels/t/reveal_token /v1/tunnels/t/rotate_token
  /v1/user_profiles/p/enrollment_url /v1/user_profiles/p/action_urls`
  .trim()
  .split(/\s+/);

/** The same to a server that is asked for it. */
const spelt = (path: string): string[] => [
  path,
  path.toUpperCase(),
  `${path}/`,
  path.replaceAll('/', '//'),
  path.replaceAll(/[aeiou]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  `${path.replaceAll('_', '%5F').replaceAll('-', '%2D')}`,
];

describe('a path at which a vendor hands out credentials', () => {
  it.each(handing)('is known however it is spelt: %s', (path) => {
    for (const each of spelt(path)) expect([each, handsOutSecrets(each)]).toEqual([each, true]);
  });

  it('is none of those at which models are asked', () => {
    for (const path of `/v1/chat/completions /v1/messages/count_tokens /v1/responses/input_tokens /v1/decisions
      /v1beta/models/gemini-3-pro:countTokens /v1beta/models/gemini-3-pro:generateContent /v1beta/interactions
      /v1/tokenize /v1/files/file-1/content /v1/sessions /v1/threads/t/runs /model/m/invoke /v1/keys/rotate-me/x /v1/webhook_event_types
      /v1/listen /v1/text-to-speech/v /openai/deployments/token/chat/completions /v1/audio/speech /%E0%A4%A /`
      .trim()
      .split(/\s+/))
      expect([path, handsOutSecrets(path)]).toEqual([path, false]);
  });
});
