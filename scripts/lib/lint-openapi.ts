import { createConfig, lintFromString } from '@redocly/openapi-core'

/**
 * What Redocly's linter, with its recommended rules, finds in the document of a running server.
 * @returns one line a problem, errors apart from warnings
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
