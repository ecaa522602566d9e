import { describe, expect, it } from 'vitest';
import {
  toConfigurations,
  toIntegrationMapping,
  toModelConfig,
  toVirtualKeyMapping,
} from './model-config.ts';

describe('the settings of a virtual key', () => {
  const fields = {
    apiVersion: '2024-02-01',
    resourceName: 'r',
    deploymentName: 'd',
    deploymentConfig: [
      { apiVersion: '2024-02-01', deploymentName: 'd', alias: 'a', is_default: true },
    ],
    awsRegion: 'eu-central-1',
    azureEntraTenantId: 't',
    workersAiAccountId: 'w',
    note: 'is no setting',
  };

  it('are those of an integration under other names', () => {
    expect(toConfigurations(fields)).toEqual({
      azure_api_version: '2024-02-01',
      azure_resource_name: 'r',
      azure_deployment_name: 'd',
      azure_deployment_config: [
        {
          azure_api_version: '2024-02-01',
          azure_deployment_name: 'd',
          alias: 'a',
          is_default: true,
        },
      ],
      aws_region: 'eu-central-1',
      azure_entra_tenant_id: 't',
      workers_ai_account_id: 'w',
    });
  });

  it('come back under the names they were sent with', () => {
    const { note: _note, ...settings } = fields;
    expect(toModelConfig(toConfigurations(fields))).toEqual(settings);
    expect(toModelConfig({ masked_aws_secret_access_key: 'ab*******yz' })).toEqual({
      masked_awsSecretAccessKey: 'ab*******yz',
    });
  });

  it('are mapped to secrets by either name', () => {
    const mapping = (target_field: string) => ({
      target_field,
      secret_reference_id: 'r',
      secret_key: null,
      value_format: null,
    });
    expect(toIntegrationMapping(mapping('key'))).toEqual(mapping('key'));
    const kept = mapping('configurations.aws_secret_access_key');
    expect(toIntegrationMapping(mapping('model_config.awsSecretAccessKey'))).toEqual(kept);
    expect(toIntegrationMapping(mapping('model_config.aws_secret_access_key'))).toEqual(kept);
    expect(toVirtualKeyMapping(kept)).toEqual(mapping('model_config.awsSecretAccessKey'));
  });
});
