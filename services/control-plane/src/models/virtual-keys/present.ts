import type { AnswerOf, SecretMapping } from '@sluice/contracts/admin';
import type { Usages } from '../../limits/usage/usage-of.ts';
import { withHeadersMasked } from '../integrations/configurations.ts';
import { presentCommon } from '../providers/present.ts';
import type { ProviderRow } from '../providers/store.ts';
import { toModelConfig, toVirtualKeyMapping } from './model-config.ts';

/** A provider under its older name, with the settings of its integration. */
export function presentVirtualKey(
  row: ProviderRow,
  now: Date,
  usages?: Usages,
): AnswerOf<'virtual-keys.read'> {
  const { integration } = row;
  // What the organisation set up for several workspaces is not theirs to look into.
  const isOwn = integration.workspaceId === row.workspaceId;
  return {
    ...presentCommon(row, now, usages),
    provider: integration.aiProviderId,
    integration_id: integration.slug,
    masked_key: isOwn ? (integration.maskedKey ?? '') : '',
    model_config: isOwn
      ? toModelConfig(withHeadersMasked(integration.configurations as Record<string, unknown>))
      : {},
    secret_mappings: isOwn
      ? (integration.secretMappings as unknown as SecretMapping[]).map(toVirtualKeyMapping)
      : [],
    object: 'virtual-key',
  };
}
