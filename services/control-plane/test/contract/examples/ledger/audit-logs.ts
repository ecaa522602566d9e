import { adminOnly, type Examples } from '../../example.ts';

export const examples: Examples = {
  'audit-logs.list': {
    callers: adminOnly,
    query: ({ organisationId }) => ({
      start_time: '2020-01-01T00:00:00Z',
      end_time: '2099-01-01T00:00:00Z',
      organisation_id: organisationId,
    }),
  },
  'audit-logs.export': {
    callers: adminOnly,
    query: ({ organisationId }) => ({
      start_time: '2020-01-01T00:00:00Z',
      end_time: '2099-01-01T00:00:00Z',
      organisation_id: organisationId,
      cursor: '0',
      limit: '2',
    }),
  },
  'audit-logs.verify': { callers: adminOnly },
};
