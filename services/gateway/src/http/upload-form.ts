import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '@sluice/errors';
import { invalidForm } from './multipart.ts';

/** What a form says beside its file. */
export type FormTexts = ReadonlyMap<string, string>;

/** A form's file on its way. */
export interface FormFile {
  readonly filename: string;
  /** As its part of the form says it. */
  readonly contentType: string | undefined;
  readonly content: AsyncIterable<Buffer>;
  /** What has been read so far. */
  readonly texts: FormTexts;
  /** Settles when the whole form has been read, which is after the content. */
  readonly ended: Promise<FormTexts>;
}

const textBytesMax = 1024;
const textsMax = 20;
const idleMsMax = 60_000;

/**
 * A form with one file, read as it flows: texts may stand before the file and after it.
 * @param onFile  takes the file's content as it comes; the form is read no faster than that. It is waited for, also where the
 *   form breaks off: its content does then, too
 * @param field   the file's own
 * @throws GatewayError `request.invalid_form`, `request.timeout`, `request.aborted`, and what `onFile` throws
 */
export async function readUploadForm(
  body: Readable,
  headers: IncomingHttpHeaders,
  onFile: (file: FormFile) => Promise<void>,
  field = 'file',
): Promise<FormTexts> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type))
    throw invalidForm(`A file is sent as multipart/form-data, as the field ${field}.`);
  const texts = new Map<string, string>();
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  over.catch(() => {});
  let reading: Promise<void> | undefined;
  let arriving: BusboyFileStream | undefined;
  let form: BusboyInstance;
  try {
    form = new Busboy({
      headers: { ...headers, 'content-type': type },
      limits: { files: 1, fields: textsMax, fieldSize: textBytesMax, headerPairs: 20 },
    });
  } catch (error) {
    throw new GatewayError('request.invalid_form', {
      field: 'body',
      cause: error,
      message: 'The content type multipart/form-data must name its boundary.',
    });
  }
  form.on(
    'file',
    (
      name: string,
      content: BusboyFileStream,
      filename: string | undefined,
      _encoding: string,
      contentType: string | undefined,
    ) => {
      content.on('error', reject);
      if (name !== field) {
        content.resume();
        return reject(
          invalidForm(`The file of the form must be its field ${field}.`, `body.${field}`),
        );
      }
      arriving = content;
      const ended = over.then(() => texts);
      ended.catch(() => {});
      reading = onFile({ filename: filename ?? '', contentType, content, texts, ended });
      reading.catch(reject);
    },
  );
  form.on('field', (name: string, value: string, _isNameCut: boolean, isCut: boolean) => {
    if (isCut) reject(invalidForm(`A text of the form has more than ${textBytesMax} bytes.`));
    texts.set(name, value);
  });
  for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    form.on(limit, () => reject(invalidForm('The form has one file, and few other fields.')));
  form.on('error', (error: unknown) =>
    reject(
      new GatewayError('request.invalid_form', {
        field: 'body',
        cause: error,
        message: 'The body is not the form that its content type names, or ends within it.',
      }),
    ),
  );
  form.on('finish', resolve);
  let timer: NodeJS.Timeout | undefined;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const message = `Nothing of the body came for ${idleMsMax} ms.`;
      reject(new GatewayError('request.timeout', { message }));
    }, idleMsMax);
  };
  alive();
  body.on('data', alive);
  body.on('error', reject);
  body.pipe(form);
  try {
    await over;
    if (reading === undefined)
      throw invalidForm(`The form has no file: send it as the field ${field}.`, `body.${field}`);
    await reading;
    return texts;
  } catch (error) {
    // Whoever takes the content hears of it, and takes back what was begun.
    arriving?.destroy(error instanceof Error ? error : new Error('the form broke off'));
    const ofTaker = await reading?.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    // Whoever takes it may have left it before he says why.
    throw ofTaker instanceof GatewayError && !(error instanceof GatewayError) ? ofTaker : error;
  } finally {
    clearTimeout(timer);
    body.unpipe(form);
    body.off('data', alive);
    form.destroy();
    body.destroy();
  }
}
