import { isDeepStrictEqual } from 'node:util';
import {
  type BodyOf,
  defaultSettings,
  type Settings,
  type SettingsChange,
  type SettingsSection,
} from '@sluice/contracts/admin';
import { openSections, type StoredSettings } from '../../kernel/tenancy/settings.ts';

type Values = Readonly<Record<string, unknown>>;

/** What is stored after a change of the organisation: only what differs from the defaults. */
export function changedOrganisationSettings(
  stored: StoredSettings,
  { workspace_overrides: switches, ...change }: BodyOf<'organisation.settings.update'>,
): StoredSettings {
  const sections = changedSections(stored, change, (section, name, value) =>
    isDeepStrictEqual((defaultSettings as Record<string, Values>)[section]?.[name], value),
  );
  const open = new Set<string>(openSections(stored));
  for (const [section, isOpen] of Object.entries(switches ?? {}))
    if (isOpen) open.add(section);
    else open.delete(section);
  const overrides = Object.fromEntries([...open].map((section) => [section, true]));
  return { ...sections, ...(open.size === 0 ? {} : { workspace_overrides: overrides }) };
}

/** What is stored after a change of a workspace: what it decided, even where the organisation decides the same today. */
export function changedWorkspaceSettings(
  stored: StoredSettings,
  change: SettingsChange,
): StoredSettings {
  return changedSections(stored, change, () => false);
}

/**
 * Of settings that are sent whole, as they were read: what the organisation decides, and is sent as it holds, stays the
 * organisation's. Of a part of them all is decided that is sent.
 */
export function withoutWhatHolds(
  sent: SettingsChange,
  { inForce, own }: { inForce: Settings; own: StoredSettings },
): SettingsChange {
  const decided = Object.entries(sent).map(([section, values]) => {
    const held: Values = inForce[section as SettingsSection];
    const ours: Values = own[section as SettingsSection] ?? {};
    const kept = Object.entries(values ?? {}).filter(
      ([name, value]) => name in ours || !isDeepStrictEqual(held[name], value),
    );
    return [section, Object.fromEntries(kept)];
  });
  return Object.fromEntries(decided) as SettingsChange;
}

/** What a section that was closed held is gone: opened again, it begins with the organisation's values. */
export function withoutClosedSections(
  stored: StoredSettings,
  organisation: StoredSettings,
): StoredSettings {
  const open = new Set<string>(openSections(organisation));
  return Object.fromEntries(Object.entries(stored).filter(([section]) => open.has(section)));
}

function changedSections(
  stored: StoredSettings,
  change: SettingsChange,
  isImplied: (section: string, name: string, value: unknown) => boolean,
): StoredSettings {
  const { workspace_overrides: _switches, ...sections } = stored;
  const kept = new Map<string, Values>(Object.entries(sections));
  for (const [section, values] of Object.entries(change)) {
    if (values === undefined) continue;
    const sent = Object.entries(values ?? {}).filter(([, value]) => value !== undefined);
    const before = values === null ? {} : kept.get(section);
    const after = Object.entries({ ...before, ...Object.fromEntries(sent) }).filter(
      ([name, value]) => value !== null && !isImplied(section, name, value),
    );
    if (after.length === 0) kept.delete(section);
    else kept.set(section, Object.fromEntries(after));
  }
  return Object.fromEntries(kept);
}
