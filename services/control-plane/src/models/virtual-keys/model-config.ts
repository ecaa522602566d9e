import {
  type SecretMapping,
  type VirtualKeyProviderFields,
  virtualKeyProviderFields,
} from '@sluice/contracts/admin';

/** Fields whose settings are called differently; the others differ in spelling only. */
const renamed: Readonly<Record<string, string>> = {
  apiVersion: 'azure_api_version',
  resourceName: 'azure_resource_name',
  deploymentName: 'azure_deployment_name',
  deploymentConfig: 'azure_deployment_config',
};
const renamedBack = Object.fromEntries(
  Object.entries(renamed).map(([field, name]) => [name, field]),
);

/** The settings of the integration behind a virtual key, from the fields of its body. */
export function toConfigurations(body: VirtualKeyProviderFields): Record<string, unknown> {
  return Object.fromEntries(
    virtualKeyProviderFields.flatMap((field) => {
      const value = field === 'deploymentConfig' ? deploymentsOf(body) : body[field];
      return value === undefined ? [] : [[settingOf(field), value]];
    }),
  );
}

function deploymentsOf({ deploymentConfig }: VirtualKeyProviderFields) {
  return deploymentConfig?.map(({ apiVersion, deploymentName, alias, is_default }) => ({
    azure_api_version: apiVersion,
    azure_deployment_name: deploymentName,
    alias,
    is_default,
  }));
}

/** The shown settings of an integration, as a virtual key shows them. */
export function toModelConfig(shown: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => {
      if (name === 'azure_deployment_config' && Array.isArray(value))
        return [fieldOf(name), value.map(toDeployment)];
      return name.startsWith('masked_')
        ? [`masked_${fieldOf(name.slice('masked_'.length))}`, value]
        : [fieldOf(name), value];
    }),
  );
}

function toDeployment(stored: Record<string, unknown>) {
  const { azure_api_version, azure_deployment_name, ...rest } = stored;
  return { apiVersion: azure_api_version, deploymentName: azure_deployment_name, ...rest };
}

/** A mapping of a virtual key as one of its integration, and back. */
export function toIntegrationMapping(mapping: SecretMapping): SecretMapping {
  return retarget(mapping, 'model_config.', (field) => `configurations.${settingOf(field)}`);
}

export function toVirtualKeyMapping(mapping: SecretMapping): SecretMapping {
  return retarget(mapping, 'configurations.', (name) => `model_config.${fieldOf(name)}`);
}

function retarget(
  mapping: SecretMapping,
  prefix: string,
  translate: (name: string) => string,
): SecretMapping {
  const { target_field: target } = mapping;
  if (!target.startsWith(prefix)) return mapping;
  return { ...mapping, target_field: translate(target.slice(prefix.length)) };
}

/** Where a setting stands in a body. */
export function bodyFieldOf(setting: string): string {
  return `body.${fieldOf(setting)}`;
}

function settingOf(field: string): string {
  return renamed[field] ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function fieldOf(setting: string): string {
  return (
    renamedBack[setting] ??
    setting.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  );
}
