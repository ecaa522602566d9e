/**
 * Files of vendors that follow OpenAI but for the upload: rows of another shape,
 * other words. All else passes through.
 */
import type { JsonObject } from '../contract.ts';
import { objectOf, parseJson } from '../json/json-access.ts';
import type { VendorFiles } from '../vendor-files.ts';
import { formUpload } from './form-upload.ts';

interface FormWords {
  readonly path: string;
  /** The form's texts as the vendor has them. */
  fields(texts: ReadonlyMap<string, string>, filename: string): Record<string, string>;
  /** Its answer as OpenAI has it. */
  present?(document: JsonObject): JsonObject;
}

function formFiles({ path, fields, present }: FormWords): VendorFiles {
  return {
    restPasses: true,
    async upload(file, use) {
      const form = formUpload(file, use.name, {
        fields: (texts) => fields(texts, file.filename),
      });
      const { bytes } = await use.ask({
        method: 'POST',
        url: `${use.base}${path}`,
        headers: { 'content-type': form.contentType },
        body: form.body,
      });
      const document = objectOf(parseJson(bytes.toString('utf8'))) ?? {};
      return present?.(document) ?? document;
    },
  };
}

/** https://docs.mistral.ai/api/endpoint/files, November 2026: rows of batches have no method and no url. */
export const mistralFiles: VendorFiles = {
  ...formFiles({ path: '/files', fields: (texts) => Object.fromEntries(texts) }),
  rewritesRows: true,
};

/** https://docs.together.ai/reference/upload-file, November 2026. */
export const togetherFiles: VendorFiles = formFiles({
  path: '/files/upload',
  fields(texts, filename) {
    const { purpose = '', ...others } = Object.fromEntries(texts);
    const type = /\.(csv|jsonl|parquet)$/i.exec(filename)?.[1]?.toLowerCase();
    return {
      file_name: filename,
      ...(type !== undefined && { file_type: type }),
      ...others,
      purpose: purpose === 'batch' ? 'batch-api' : purpose,
    };
  },
  present: (file) => ({
    ...file,
    purpose: file.purpose === 'batch-api' ? 'batch' : (file.purpose ?? null),
    status: file.Processed === true ? 'processed' : 'uploaded',
  }),
});
