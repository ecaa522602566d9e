import { describe, expect, it } from 'vitest';
import { exampleBundle } from '../../test/exchange.ts';

describe('a compiled provider', () => {
  it('has the TLS identity that admins saved with it', () => {
    const bundle = exampleBundle({
      providers: [
        { slug: 'own', provider: 'openai', configurationsJson: '{"tls_cert":"a certificate"}' },
        { slug: 'plain', provider: 'openai', configurationsJson: '{}' },
      ] as never,
    });
    expect(bundle.providers.get('own')?.tls?.cert).toBe('a certificate');
    expect(bundle.providers.get('plain')?.tls).toBeUndefined();
  });
});
