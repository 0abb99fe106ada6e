// The API reference: the viewer over this origin's own description of its API.
window.addEventListener('DOMContentLoaded', () => {
  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    syntaxHighlight: { activated: false },
  })
})
