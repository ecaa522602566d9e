import type { AnswerOf } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import { shareOf } from '../shares/share.ts';
import type { PromptRow, VersionRow } from './store.ts';

type Shown = AnswerOf<'prompts.read'>;

/** A line of the list. */
export function presentSummary(row: PromptRow, model: string | null, showShare: boolean) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    collection_id: row.collectionId,
    workspace_id: row.workspaceId,
    model: model ?? undefined,
    status: row.status as 'active',
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    ...(showShare ? { share: shareOf(row) } : {}),
    object: 'prompt' as const,
  };
}

/** A prompt merged with one of its versions. */
export function presentPrompt(row: PromptRow, version: VersionRow): Shown {
  return {
    ...presentContent(version),
    id: row.id,
    slug: row.slug,
    name: row.name,
    collection_id: row.collectionId,
    workspace_id: row.workspaceId,
    prompt_version: version.version,
    prompt_version_id: version.id,
    prompt_version_status: version.status as 'active',
    prompt_version_description: version.description ?? undefined,
    prompt_version_label_id: version.labels[0]?.labelId,
    prompt_version_label_ids: labelIds(version),
    published_version: row.publishedVersion,
    latest_version: row.latestVersion,
    status: row.status as 'active',
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}

/** A line of the history. */
export function presentVersion(version: VersionRow) {
  return {
    id: version.id,
    prompt_id: version.promptId,
    prompt_template: presentContent(version),
    prompt_version: version.version,
    prompt_description: version.description ?? undefined,
    label_id: version.labels[0]?.labelId,
    label_ids: labelIds(version),
    created_at: instant(version.createdAt),
    status: version.status as 'active',
    object: 'prompt' as const,
  };
}

function presentContent(version: VersionRow) {
  return {
    string: version.template,
    parameters: version.parameters as Shown['parameters'],
    virtual_key: version.virtualKey,
    model: version.model ?? undefined,
    functions: (version.functions ?? undefined) as Shown['functions'],
    tools: (version.tools ?? undefined) as Shown['tools'],
    tool_choice: (version.toolChoice ?? undefined) as Shown['tool_choice'],
    template_metadata: (version.templateMetadata ?? undefined) as Shown['template_metadata'],
    is_raw_template: version.isRawTemplate,
  };
}

function labelIds(version: VersionRow): string[] {
  return version.labels.map((label) => label.labelId);
}
