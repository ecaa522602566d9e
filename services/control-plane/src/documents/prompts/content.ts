import type { BodyOf } from '@sluice/contracts/admin';
import { compilePrompt, TemplateFault } from '@sluice/engine';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { findProviderRow } from '../../models/providers/store.ts';
import type { VersionContent } from './store.ts';

type CreateBody = BodyOf<'prompts.create'>;
type UpdateBody = BodyOf<'prompts.update'>;

/** Fields that make a new version; name, collection, description and provider alone do not. */
const contentFields = [
  'string',
  'parameters',
  'model',
  'functions',
  'tools',
  'tool_choice',
  'is_raw_template',
  'prompt_metadata',
  'template_metadata',
] as const;

export function makesVersion(body: UpdateBody): boolean {
  return contentFields.some((field) => body[field] !== undefined);
}

/** What a version says when its body is all there is to go by. */
export function wholeContent(body: CreateBody): VersionContent {
  return mergedContent({ ...body, patch: false }, nothing);
}

/**
 * What the next version says. With `patch`, what the body leaves out is taken
 * from the latest one; without it the body is the whole version.
 * @throws 400 naming the field that a whole version lacks
 */
export function nextContent(body: UpdateBody, latest: VersionContent): VersionContent {
  if (body.patch) return mergedContent(body, latest);
  for (const field of ['string', 'parameters', 'virtual_key'] as const)
    if (body[field] === undefined)
      throw invalidField(
        `body.${field}`,
        'is required: a version is sent whole, or with "patch": true',
      );
  return mergedContent(body, nothing);
}

const nothing: VersionContent = {
  template: '',
  isRawTemplate: false,
  parameters: {},
  virtualKey: '',
  model: null,
  functions: null,
  tools: null,
  toolChoice: null,
  templateMetadata: null,
  description: null,
};

function mergedContent(body: UpdateBody, kept: VersionContent): VersionContent {
  return {
    template: sentOr(body.string, kept.template),
    isRawTemplate: sentOr(body.is_raw_template, kept.isRawTemplate),
    parameters: sentOr(body.parameters, kept.parameters),
    virtualKey: sentOr(body.virtual_key, kept.virtualKey),
    model: sentOr(body.model, kept.model),
    functions: sentOr(body.functions, kept.functions),
    tools: sentOr(body.tools, kept.tools),
    toolChoice: sentOr(body.tool_choice, kept.toolChoice),
    templateMetadata: sentOr(
      body.prompt_metadata === undefined ? body.template_metadata : body.prompt_metadata,
      kept.templateMetadata,
    ),
    description: sentOr(body.version_description, kept.description),
  };
}

/** What a row says, and nothing of who made it and when. */
export function contentOf(row: VersionContent): VersionContent {
  return mergedContent({ patch: true }, row);
}

function sentOr<T>(sent: T | undefined, kept: T): T {
  return sent === undefined ? kept : sent;
}

/** @throws 400 with the reason why the template could never be rendered */
export function checkTemplate({ template, isRawTemplate, templateMetadata }: VersionContent): void {
  try {
    compilePrompt({ template, isRaw: isRawTemplate, type: templateType(templateMetadata) });
  } catch (error) {
    throw templateRefusal(error);
  }
}

/** Whether a template is of messages or of text, where its metadata say so. */
export function templateType(metadata: unknown): string | undefined {
  const type = (metadata as { template_type?: unknown } | null)?.template_type;
  return typeof type === 'string' ? type : undefined;
}

export function templateRefusal(error: unknown): unknown {
  return error instanceof TemplateFault
    ? invalidField('body.string', `cannot be used as a template: ${error.message}`)
    : error;
}

/**
 * The slug of the provider that the body names by slug, `@slug` or UUID.
 * @throws 400 when the workspace has none of that name
 */
export async function providerSlug(
  db: Database,
  workspaceId: string,
  reference: string,
): Promise<string> {
  const provider = await findProviderRow(db, workspaceId, reference.replace(/^@/, ''));
  if (provider === null) throw invalidField('body.virtual_key', 'is no provider of this workspace');
  return provider.slug;
}
