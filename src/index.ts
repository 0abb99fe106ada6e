export default { async fetch() { return new Response('x') } } satisfies ExportedHandler
