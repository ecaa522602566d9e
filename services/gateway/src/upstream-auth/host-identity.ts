import type { UnauthorisedRequest } from '../calls/call-authoriser.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { authorisationFailed } from './failure.ts';

/**
 * The identity of the machine we run on is the operator's, and more may be
 * open to it than callers should see. It is lent to providers that admins
 * saved, at addresses of theirs, and only as they wrote it down: what a
 * request says about it must not differ.
 * @throws GatewayError `provider.authorisation_failed`
 */
export function lendHostIdentity(
  { savedSetting, setting }: UnauthorisedRequest,
  cloud: CloudSettings,
  settings: readonly string[],
): void {
  if (cloud.HOST_IDENTITY_FOR_CALLERS) return;
  if (savedSetting !== undefined && settings.every((name) => setting(name) === savedSetting(name)))
    return;
  throw authorisationFailed(
    'The identity of the gateway’s machine',
    'is used only for saved providers at addresses of their own, whose settings say so',
  );
}
