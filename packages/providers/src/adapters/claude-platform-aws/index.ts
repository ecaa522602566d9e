import { awsSettings, regionOf } from '../../addresses/bedrock.ts';
import type { ProviderEntry } from '../../contract.ts';
import { anthropic } from '../anthropic/index.ts';

/** Anthropic's own API behind AWS's authorisation: everything but address and signature is Anthropic's. */
export const claudePlatformAws: ProviderEntry = {
  ...anthropic,
  id: 'claude-platform-aws',
  name: 'Claude Platform on AWS',
  baseUrl: ({ setting }) => `https://aws-external-anthropic.${regionOf(setting)}.api.aws/v1`,
  auth: { type: 'aws', service: 'aws-external-anthropic' },
  // The workspace is a setting of its own here.
  callerHeaders: ['anthropic-version', 'anthropic-beta', 'anthropic-user-profile-id'],
  accountHeaders: ['x-amz-security-token'],
  settings: [...awsSettings, 'anthropic-aws-workspace-id'],
  settingHeaders: { 'anthropic-workspace-id': 'anthropic-aws-workspace-id' },
  source:
    'https://docs.aws.amazon.com/claude-platform/latest/userguide/making-requests.html, November 2026',
  note: 'Needs a workspace: send x-service-anthropic-aws-workspace-id, or keep anthropic_aws_workspace_id in the provider.',
};
