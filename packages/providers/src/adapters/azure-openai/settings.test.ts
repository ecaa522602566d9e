import { expect, it } from 'vitest';
import { readSettings } from '../../settings.ts';
import { azureOpenAi } from './index.ts';
import { deploymentOf } from './settings.ts';

const nameOf = (configurations: object) =>
  deploymentOf({
    model: 'gpt-4o',
    stream: false,
    setting: readSettings(azureOpenAi, { ...configurations }, {}),
  }).name;

it('a deployment has a name in each of the spellings, and the list goes before all', () => {
  expect(nameOf({})).toBeUndefined();
  for (const setting of ['azure_deployment_id', 'deployment_id', 'azure_deployment_name'])
    expect(nameOf({ [setting]: 'ours' })).toBe('ours');
  const listed = { azure_deployment_name: 'listed', alias: 'gpt-4o' };
  expect(nameOf({ azure_deployment_config: [listed], azure_deployment_name: 'ours' })).toBe(
    'listed',
  );
});
