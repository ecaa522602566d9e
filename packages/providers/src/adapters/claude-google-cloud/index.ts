import { optionalSetting, requiredSetting } from '../../address.ts';
import { projectOf, vertexSettings } from '../../addresses/vertex-ai.ts';
import type { CallFacts } from '../../call-facts.ts';
import type { ProviderEntry } from '../../contract.ts';
import { anthropic } from '../anthropic/index.ts';

const workspace = 'anthropic-google-workspace-id';

/** Everything but address and authorisation is Anthropic's: paths stand behind the workspace's as they are. */
function invokeUrl({ setting }: CallFacts): string {
  const project = projectOf(setting);
  const location = optionalSetting(setting, 'vertex-region', 'global');
  const workspaceId = requiredSetting(setting, workspace);
  return `https://claude.googleapis.com/v1/projects/${project}/locations/${location}/workspaces/${workspaceId}/invoke/v1`;
}

/** Anthropic's own API behind Google's authorisation; Claude as Google runs it is `vertex-ai`'s. */
export const claudeGoogleCloud: ProviderEntry = {
  ...anthropic,
  id: 'claude-google-cloud',
  name: 'Claude Models on Google Cloud (Anthropic managed)',
  baseUrl: invokeUrl,
  auth: { type: 'google' },
  // The workspace is a part of the address here.
  callerHeaders: ['anthropic-version', 'anthropic-beta', 'anthropic-user-profile-id'],
  // Names the project whose quota and bill a call is for.
  accountHeaders: ['x-goog-user-project'],
  settings: [...vertexSettings, workspace],
  source: '@anthropic-ai/google-cloud-sdk 1.1.4, November 2026',
  note: 'Needs a workspace: send x-service-anthropic-google-workspace-id, or keep anthropic_google_workspace_id in the provider.',
};
