import { createConfig, lintFromString } from '@redocly/openapi-core'

/**
 * Lints the OpenAPI document of a running server with Redocly's recommended rules.
 *
 * @returns one line for each problem
 */
export async function lintOpenApi(url: string): Promise<{ errors: string[]; warnings: string[] }> {
  const source = await (await fetch(`${url}/openapi.json`)).text()
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  const lines = (severity: string) =>
    problems
      .filter((problem) => problem.severity === severity)
      .map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`)
  return { errors: lines('error'), warnings: lines('warn') }
}
