/** What the page is made of besides itself: nothing of it comes from elsewhere. */
export const pageAssets = {
  style: 'swagger-ui.css',
  bundle: 'swagger-ui-bundle.js',
  start: 'start.js',
} as const;

/** Scripts, styles and calls of this origin only; the icons in the style sheet are inline images. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The rendered reference. Its script is a file of its own, so that the policy needs no exception. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice admin API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/${pageAssets.style}">
</head>
<body>
<div id="reference"></div>
<script src="/docs/${pageAssets.bundle}"></script>
<script src="/docs/${pageAssets.start}"></script>
</body>
</html>
`;

export const startScript = `SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
  // Asks a public service about the document.
  validatorUrl: null,
});
`;
