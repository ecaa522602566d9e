/**
 * Writes docs/settings.md from the settings of the services. `npm run generate`
 * runs it; `npm run check` fails when the page has fallen behind.
 */
import { settings as controlPlane } from '@sluice/control-plane/settings';
import { settings as dataService } from '@sluice/data-service/settings';
import type { DescribedSetting, Settings } from '@sluice/env';
import { settings as gateway } from '@sluice/gateway/settings';
import { table } from './table.ts';

/** All that each service can be told, by the name of its folder. */
export const settingsOfServices: Readonly<Record<string, Settings<unknown>>> = {
  gateway,
  'control-plane': controlPlane,
  'data-service': dataService,
};

const head = `# Settings

Made from the services' \`src/settings.ts\` by \`npm run generate\`; do not edit. To add a setting: a line there, in the section where a reader looks for it, and the
part that uses it (\`src/wiring.ts\` hands it down). What production needs, and why, is in [operating.md](operating.md).

Settings are environment variables. A value that begins with \`/\`, \`./\` or \`../\` names a file that holds the value
([how](operating.md#settings-that-are-files)); secrets, marked *secret*, never appear in a message. Lists are separated by commas; booleans are \`true\` or
\`false\`, \`ON\` or \`OFF\`, \`1\` or \`0\`. An empty value is as good as none; of \`TRUSTED_…_HOSTS\` and \`AIRGAP_HOSTS\` it names nobody. Everything that is wrong is told together, and the service does not start. A variable that is no
setting, and almost one, is named in a warning of the log.
`;

/** The whole page. */
export function settingsPage(): string {
  return head + Object.entries(settingsOfServices).map(service).join('');
}

function service([name, { described }]: [string, Settings<unknown>]): string {
  const sections = new Map<string, DescribedSetting[]>();
  for (const setting of described)
    sections.set(setting.section, [...(sections.get(setting.section) ?? []), setting]);
  const tables = [...sections].map(
    ([title, settings]) =>
      `\n### ${title}\n\n${table(['variable', 'value', 'without it', 'is'], settings.map(row))}`,
  );
  return `\n## ${name}\n${tables.join('')}`;
}

function row(setting: DescribedSetting): string[] {
  return [`\`${setting.name}\``, shownValue(setting), fallbackOf(setting), setting.about];
}

function shownValue({ kind, secret, values, min, max, size }: DescribedSetting): string {
  const kinds: Readonly<Record<DescribedSetting['kind'], string>> = {
    text: 'text',
    integer: rangeOf(min, max),
    number: `number ${min} to ${max}`,
    boolean: 'boolean',
    choice: (values ?? []).map((value) => (value === '' ? 'empty' : `\`${value}\``)).join(', '),
    list: 'list',
    uuids: 'list of UUIDs',
    url: 'URL',
    bytes: `${size} bytes, hex or base64`,
  };
  return secret ? `${kinds[kind]}, *secret*` : kinds[kind];
}

/** Bounds that are only those of numbers and timers say nothing. */
function rangeOf(min = 0, max = Number.MAX_SAFE_INTEGER): string {
  return max >= 2 ** 31 - 1 ? `integer from ${min}` : `integer ${min} to ${max}`;
}

function fallbackOf({ required, fallback }: DescribedSetting): string {
  if (required) return '**does not start**';
  return fallback === undefined || fallback === '' ? '' : `\`${fallback}\``;
}
