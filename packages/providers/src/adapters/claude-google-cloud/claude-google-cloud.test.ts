import { describe, expect, it } from 'vitest';
import { baseUrlOf, pathOf } from '../../address.ts';
import { authHeaders } from '../../auth-headers.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const provider = findProvider('claude-google-cloud')!;

function urlWith(settings: Record<string, string>, endpoint: 'messages' | 'listModels') {
  const facts = { model: '', stream: true, setting: (name: string) => settings[name] };
  const call = findTranslation(provider, endpoint, facts);
  return baseUrlOf(provider, call.entry, facts) + pathOf(call.entry, facts);
}

describe('claude-google-cloud', () => {
  const mine = { 'vertex-project-id': 'p-1', 'anthropic-google-workspace-id': 'wrkspc_1' };

  it('is Anthropic’s API at an address of the project and the workspace', () => {
    const base = 'https://claude.googleapis.com/v1/projects/p-1/locations/global/workspaces';
    expect(urlWith(mine, 'messages')).toBe(`${base}/wrkspc_1/invoke/v1/messages`);
    expect(urlWith(mine, 'listModels')).toBe(`${base}/wrkspc_1/invoke/v1/models`);
    const account = JSON.stringify({ project_id: 'p-of-account' });
    expect(urlWith({ ...mine, 'vertex-service-account-json': account }, 'messages')).toContain(
      '/projects/p-of-account/',
    );
    expect(findTranslation(provider, 'messages').mode).toBe('native');
    expect(findTranslation(provider, 'chatComplete').mode).toBe('translated');
  });

  it('names what is missing, and takes no path for a name', () => {
    expect(() => urlWith({ 'vertex-project-id': 'p' }, 'messages')).toThrow(/workspace-id/);
    const odd = { ...mine, 'anthropic-google-workspace-id': '../../other' };
    expect(() => urlWith(odd, 'messages')).toThrow();
  });

  it('has Google’s authorisation, and the caller’s version and betas', () => {
    expect(provider.auth).toEqual({ type: 'google' });
    const asked = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'b' };
    expect(authHeaders(provider, { apiKey: '', configurations: {} }, asked)).toEqual(asked);
  });
});
