import { adminOnly, type Examples } from '../../example.ts';

export const examples: Examples = {
  'organisation.alert-settings.read': { callers: adminOnly },
  'organisation.alert-settings.update': {
    callers: adminOnly,
    body: () => ({
      webhook: { url: 'https://alerts.example.com/sluice', secret: 'a-secret-of-this-webhook' },
    }),
  },
};
