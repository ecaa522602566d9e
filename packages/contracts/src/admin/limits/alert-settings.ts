import { z } from 'zod';
import { hostField, instantText } from '../../fields/fields.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';

/** Where an organisation is told of its budgets. */
export const alertWebhook = z.object({
  url: hostField,
  /** Shown masked; what was shown may be sent back, and is shorter than a secret may be. */
  secret: z.string().min(1).max(1024),
});
export type AlertWebhook = z.infer<typeof alertWebhook>;

/** As it is shown: while alerts were not taken, with how many and why. */
const shownWebhook = alertWebhook.extend({
  undelivered: z.object({ count: z.int(), since: instantText, reason: z.string() }).optional(),
});

const added = 'where alerts go is not part of the published API';

export const alertSettingsEndpoints = {
  'organisation.alert-settings.read': endpoint({
    operationId: 'getOrganisationAlertSettings',
    summary: 'Show where alerts go',
    tag: 'Organisation',
    method: 'get',
    path: '/admin/organisation/alert-settings',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    answer: z.object({ webhook: shownWebhook.nullable() }),
    added,
  }),
  'organisation.alert-settings.update': endpoint({
    operationId: 'updateOrganisationAlertSettings',
    summary: 'Set where alerts go',
    tag: 'Organisation',
    method: 'put',
    path: '/admin/organisation/alert-settings',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: z.object({ webhook: alertWebhook.nullable() }),
    answer: nothing,
    added,
  }),
};
