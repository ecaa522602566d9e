import type { AuditAction, AuditResource } from '@sluice/contracts/admin';
import { newId } from '../names/ids.ts';
import type { NewAuditEntry } from './chain.ts';

/** The entry of something that no request asked for: nobody's key, no address. */
export function systemEntry(facts: {
  organisationId: string;
  timestamp: Date;
  method: 'POST' | 'PUT' | 'DELETE';
  /** What did it, in place of a path. */
  uri: string;
  resourceType: AuditResource;
  action: AuditAction;
}): NewAuditEntry {
  return {
    ...facts,
    requestId: newId(),
    requestBody: '',
    queryParams: '',
    requestHeaders: '',
    userId: null,
    userType: 'system',
    apiKeyId: null,
    responseStatusCode: 200,
    clientIp: '',
  };
}
