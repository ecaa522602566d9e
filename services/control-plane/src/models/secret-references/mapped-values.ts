import type { SecretMapping } from '@sluice/contracts/admin';

/** The settings that mappings fill, each with what it is filled from: a secret that is fetched may be an address. */
export function mappedValues(mappings: readonly SecretMapping[]): Record<string, string> {
  return Object.fromEntries(
    mappings.flatMap(({ target_field, secret_reference_id, secret_key }) =>
      target_field.startsWith('configurations.')
        ? [[target_field.slice('configurations.'.length), `${secret_reference_id} ${secret_key}`]]
        : [],
    ),
  );
}
