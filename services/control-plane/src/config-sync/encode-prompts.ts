import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { templateType } from '../documents/prompts/content.ts';
import type {
  PartialHead,
  PartialVersionBody,
  PromptHead,
  PromptVersionBody,
} from './prompt-rows.ts';

/** Rows of prompts and partials as gateways hold them. Pure, like the rest of the bundle. */
export function encodePrompt(row: PromptHead): Uint8Array {
  const { id, slug, publishedVersion, latestVersion, labels } = row;
  const message = create(config.PromptSchema, {
    id,
    slug,
    publishedVersion,
    latestVersion,
    labels,
  });
  return toBinary(config.PromptSchema, message);
}

export function encodePromptVersion(row: PromptVersionBody): Uint8Array {
  const message = create(config.PromptVersionSchema, {
    id: row.id,
    name: `${row.ownerId}@${row.version}`,
    template: row.template,
    isRawTemplate: row.isRawTemplate,
    templateType: templateType(row.templateMetadata) ?? '',
    bodyJson: JSON.stringify(requestBody(row)),
    providerSlug: row.virtualKey,
  });
  return toBinary(config.PromptVersionSchema, message);
}

/** What was saved beside the template. Whether to stream is the caller's to say, each time. */
function requestBody(row: PromptVersionBody): Record<string, unknown> {
  const { stream: _, ...parameters } = row.parameters;
  return {
    ...(row.model === null ? {} : { model: row.model }),
    ...parameters,
    ...(row.functions === null ? {} : { functions: row.functions }),
    ...(row.tools === null ? {} : { tools: row.tools }),
    ...(row.toolChoice === null ? {} : { tool_choice: row.toolChoice }),
  };
}

export function encodePartial(row: PartialHead): Uint8Array {
  return toBinary(config.PromptPartialSchema, create(config.PromptPartialSchema, row));
}

export function encodePartialVersion(row: PartialVersionBody): Uint8Array {
  const message = create(config.PromptPartialVersionSchema, {
    id: row.id,
    name: `${row.ownerId}@${row.version}`,
    template: row.template,
  });
  return toBinary(config.PromptPartialVersionSchema, message);
}
