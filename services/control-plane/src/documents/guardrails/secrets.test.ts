import { expect, it } from 'vitest';
import { shownChecks, withKeptSecrets } from './secrets.ts';

const webhook = (webhookURL: string) => ({
  id: 'default.webhook',
  is_enabled: true,
  parameters: { webhookURL, headers: { 'x-for': 'somebody-and-me' } },
});
const address = 'https://hooks.example/in?room=7&token=t0k3n';
const shown = 'https://hooks.example/in?room=7&token=*******';

it('shows an address of a check without its credentials, and takes it back so', () => {
  const kept = [webhook(address)];
  const [check] = shownChecks(kept);
  expect(check?.parameters).toEqual({
    webhookURL: shown,
    headers: { 'x-for': 'so*******me' },
  });
  expect(withKeptSecrets(kept, shownChecks(kept))).toEqual(kept);
});

it('has an address that changes say its credentials again', () => {
  const moved = [webhook(shown.replace('hooks', 'evil'))];
  expect(() => withKeptSecrets([webhook(address)], moved)).toThrow(
    'body.checks[0].parameters.webhookURL',
  );
});
