import type { Change } from '../../kernel/database/change.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { changeReached } from './integrations.ts';
import {
  addSwitches,
  type OfferName,
  offersNamed,
  setOffers,
  setSwitches,
  switchesNamed,
} from './offers-store.ts';
import type { Registry } from './registry.ts';
import type { RegistryKind } from './registry-kind.ts';
import { changeServer } from './servers.ts';
import type { FoundServer, IntegrationRow, KindTypes } from './tables.ts';

/** An offer, and whether it may be used. */
export type OfferSetting = OfferName & { enabled: boolean };

/** The same of a server, with what its integration says where that was shown. */
type ServerOfferSetting = OfferSetting & { integration_enabled?: boolean | null | undefined };

/** Turns offers of an integration on and off, for every server made of it. */
export function switchOffers<K extends KindTypes>(
  call: AdminRequest,
  registry: Registry<K>,
  reference: string,
  settings: readonly OfferSetting[],
): Promise<void> {
  const { kind } = registry;
  const work = async ({ db, describe }: Change, row: IntegrationRow<K>) => {
    for (const enabled of [true, false])
      await setOffers(db, kind, row.id, namesOf(settings, enabled), {
        enabled,
        now: call.now,
      });
    describe({ detail: { slug: row.slug, offers: settings } });
    return row;
  };
  return changeReached(call, registry, reference, work, async (db, row) => ({
    offers: await offersNamed(db, kind, row.id, settings),
  }));
}

/** Turns offers on and off for one server; what is off for its integration stays off. */
export function switchServerOffers<K extends KindTypes>(
  call: AdminRequest,
  kind: RegistryKind<K>,
  reference: string,
  settings: readonly ServerOfferSetting[],
  /** In the same change. */
  also: (change: Change, server: FoundServer<K>) => Promise<void> = async () => {},
): Promise<void> {
  return changeServer(call, kind, reference, async (change, server) => {
    const { db, describe } = change;
    // What is off for the integration is shown as off whatever the server says: sent back, it stays as it is there.
    const isOfServer = (each: ServerOfferSetting) =>
      each.enabled || each.integration_enabled !== false;
    const said = settings.filter(isOfServer);
    const shown = async () => ({ offers: await switchesNamed(db, kind, server.id, settings) });
    const before = await shown();
    for (const enabled of [true, false])
      await setSwitches(db, kind, server.id, namesOf(said, enabled), { enabled, now: call.now });
    const others = settings.filter((each) => !isOfServer(each));
    await addSwitches(db, kind, server.id, namesOf(others, false), call.now);
    await also(change, server);
    describe({
      before,
      after: await shown(),
      detail: { slug: server.slug, offers: settings },
    });
  });
}

/** Of what is named twice, the last word counts. */
function namesOf(settings: readonly OfferSetting[], enabled: boolean): OfferName[] {
  const last = new Map(settings.map((setting) => [`${setting.type} ${setting.name}`, setting]));
  return [...last.values()]
    .filter((setting) => setting.enabled === enabled)
    .map(({ type, name }) => ({ type, name }));
}
