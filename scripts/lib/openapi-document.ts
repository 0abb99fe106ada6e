import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { bundle, COMPATIBILITY_DATE, STAND_IN_SECRETS } from './worker-bundle.ts'

/** The OpenAPI document of this checkout, as its bundle serves it. It needs no running server. */
export async function openApiDocument(): Promise<string> {
  const script = await bundle()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.NONE),
      modules: [{ type: 'ESModule', path: 'index.js', contents: script }],
      compatibilityDate: COMPATIBILITY_DATE,
      bindings: STAND_IN_SECRETS,
      d1Databases: { DB: 'none' },
      ratelimits: { LIMIT_PUBLIC: { namespace_id: 'none', simple: { limit: 10, period: 60 } } },
    }),
  )
  try {
    const response = await miniflare.dispatchFetch('http://localhost/openapi.json')
    const text = await response.text()
    if (!response.ok) throw new Error(`/openapi.json: ${response.status} ${text}`)
    return text
  } finally {
    await miniflare.dispose()
  }
}
