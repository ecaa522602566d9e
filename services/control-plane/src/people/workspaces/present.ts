import type { AnswerOf } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import type {
  findWorkspaceOfAnyStatus,
  WorkspaceRow,
} from '../../kernel/tenancy/find-workspace.ts';
import type { Usages } from '../../limits/usage/usage-of.ts';
import { presentUsageLimits } from '../../limits/usage-limits/present.ts';
import type { StoredUsageLimits } from '../../limits/usage-limits/stored-limits.ts';
import { presentMember } from './present-member.ts';

type Shown = AnswerOf<'workspaces.create'>;
type ShownDetail = AnswerOf<'workspaces.read'>;

type ShownRow = WorkspaceRow & { userApiKeyConfig: { slug: string } | null };

/**
 * A workspace as it is shown: its `id` is the slug.
 * @param usages  what is used of its budgets; undefined = that is not told
 */
export function presentWorkspace(row: ShownRow, now: Date, usages?: Usages): Shown {
  return {
    id: row.slug,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status as Shown['status'],
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    defaults: {
      metadata: row.metadata as Record<string, string>,
      is_default: row.isDefault ? 1 : 0,
      input_guardrails: row.inputGuardrails,
      output_guardrails: row.outputGuardrails,
      user_api_key_config: row.userApiKeyConfig?.slug ?? null,
      object: 'workspace',
    },
    usage_limits: (row.usageLimits as StoredUsageLimits[]).map((each) =>
      presentUsageLimits(each, now, usages),
    ),
    rate_limits: row.rateLimits as Shown['rate_limits'],
    object: 'workspace',
  };
}

type Detail = NonNullable<Awaited<ReturnType<typeof findWorkspaceOfAnyStatus>>>;

/** With members, whom lists leave out. */
export function presentWorkspaceDetail(
  row: Detail,
  nameFormat: 'display' | 'plain',
  now: Date,
  usages?: Usages,
): ShownDetail {
  return {
    ...presentWorkspace(row, now, usages),
    name: nameFormat === 'plain' ? withoutLeadingEmoji(row.name) : row.name,
    users: row.members.map((member) => presentMember(row, member)),
  };
}

function withoutLeadingEmoji(name: string): string {
  return name.replace(
    /^(?:\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f|\u200d)*)+\s*/u,
    '',
  );
}
