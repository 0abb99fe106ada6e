// The API reference: a viewer for this origin's API description, in the layout of the console.

/** The viewer's layout without its header, its second main landmark and its list of servers, as there is only one. */
const Reference = ({ React: { createElement } }) => ({
  components: {
    ReferenceLayout: ({ getComponent, specSelectors }) => {
      const part = (name, container) => createElement(getComponent(name, container))
      return createElement(
        'div',
        { className: 'swagger-ui' },
        part('SvgAssets'),
        part('errors', true),
        createElement('div', { className: 'authorize' }, part('AuthorizeBtnContainer', true)),
        // Until the description has come, the viewer would say that it has no operations.
        specSelectors.specStr()
          ? part('operations', true)
          : specSelectors.loadingStatus() !== 'failed' && createElement('p', null, 'Loading …'),
      )
    },
  },
})

window.addEventListener('DOMContentLoaded', () => {
  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#reference',
    plugins: [Reference],
    layout: 'ReferenceLayout',
    validatorUrl: null,
    docExpansion: 'list',
    syntaxHighlight: { activated: false },
  })
})
