import { GatewayError } from '@sluice/errors';
import type { AuthRecipe } from '@sluice/providers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  endAll,
  exampleAuthoriser,
  exampleCall,
  failureOf,
  startTokenServer,
} from '../../test/authorisation.ts';

afterEach(endAll);

describe('isMadeForEachCall', () => {
  it('is said of the clouds only: what is a header is already there', () => {
    const recipes: AuthRecipe[] = [
      { type: 'none' },
      { type: 'bearer' },
      { type: 'header', header: 'x-key' },
      { type: 'basic', secretSetting: 's' },
      { type: 'headers', make: () => ({}) },
      { type: 'aws', service: 'bedrock' },
      { type: 'google' },
      { type: 'azure', keyHeader: 'api-key' },
      { type: 'oci' },
    ];
    const { isMadeForEachCall } = exampleAuthoriser();
    expect(recipes.filter(isMadeForEachCall).map(({ type }) => type)).toEqual([
      'aws',
      'google',
      'azure',
      'oci',
    ]);
  });
});

describe('an authoriser', () => {
  const entra = {
    'azure-auth-mode': 'entra',
    'azure-entra-tenant-id': 't',
    'azure-entra-client-id': 'c',
    'azure-entra-client-secret': 's',
  };

  it('ends with the reason of the request’s end, and closes its call', async () => {
    const server = await startTokenServer(() => 'hang');
    const authoriser = exampleAuthoriser({ AZURE_AUTHORITY_HOST: server.url });
    const leaver = new AbortController();
    const call = exampleCall({
      recipe: { type: 'azure', keyHeader: 'api-key' },
      settings: entra,
      signal: leaver.signal,
    });
    const failure = failureOf(authoriser.authorise(call));
    await expect.poll(() => server.asked.length).toBe(1);
    const reason = new GatewayError('request.aborted');
    leaver.abort(reason);
    expect(await failure).toBe(reason);
  });

  it('foresees what the settings lack, and asks nobody for it', async () => {
    const server = await startTokenServer(() => ({
      body: { access_token: 't', expires_in: 3600 },
    }));
    const authoriser = exampleAuthoriser({ AZURE_AUTHORITY_HOST: server.url });
    const recipe = { type: 'azure', keyHeader: 'api-key' } as const;
    const whole = exampleCall({ recipe, settings: entra });
    await authoriser.foresee(whole);
    const { 'azure-entra-tenant-id': _, ...half } = entra;
    expect(
      await failureOf(authoriser.foresee(exampleCall({ recipe, settings: half }))),
    ).toMatchObject({ code: 'provider.setting_missing' });
    expect(server.asked).toEqual([]);
    expect((await authoriser.authorise(whole)).headers.authorization).toBe('Bearer t');
  });

  it('asks token endpoints only where the host rules allow it', async () => {
    const authoriser = exampleAuthoriser({ AZURE_AUTHORITY_HOST: 'http://169.254.169.254' });
    const call = exampleCall({
      recipe: { type: 'azure', keyHeader: 'api-key' },
      settings: entra,
    });
    expect((await failureOf(authoriser.authorise(call))).message).toBe(
      'Microsoft Entra’s token endpoint is at an address that is not allowed.',
    );
  });
});
