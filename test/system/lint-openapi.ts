import { createConfig, lintFromString } from '@redocly/openapi-core'
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'

const EXAMPLES = 'oas3-valid-media-example'
/**
 * Spectral's rules. Redocly checks the examples of bodies and parameters as strictly, in a tenth of the time: Spectral compiles the schema
 * of each of some thousand uses. So Spectral checks only the examples of headers, which Redocly does not, where each is defined.
 */
const SPECTRAL = {
  extends: [[oas, 'recommended']],
  rules: {
    [EXAMPLES]: {
      ...oas.rules[EXAMPLES],
      given: '$..headers..[?(@ && @.schema && (@.example !== void 0 || @.examples))]',
      resolved: false,
    },
  },
}

/** The warnings that are right and stay, and why. */
const EXPLAINED: Record<string, string> = {
  'no-server-example.com': 'the server that is linted here runs on localhost',
  'no-ambiguous-paths': 'the specification names these paths, and no event has an id like theirs',
  'info-contact': 'whom to ask is a matter of each deployment',
}

/**
 * Lints the OpenAPI document of a running server with Redocly's and Spectral's recommended rules.
 *
 * @returns one line for each problem that is not explained here, and for each explanation that nothing needs any more
 */
export async function lintOpenApi(url: string): Promise<string[]> {
  const source = await (await fetch(`${url}/openapi.json`)).text()
  const found = [...(await redocly(source)), ...(await spectral(source))]
  const isExplained = ({ rule, isError }: Problem) => !isError && rule in EXPLAINED
  const needless = Object.keys(EXPLAINED).filter((rule) => !found.some((one) => one.rule === rule))
  return [
    ...found.filter((one) => !isExplained(one)).map(({ rule, message, where }) => `${rule}: ${message} (${where})`),
    ...needless.map((rule) => `${rule}: explained, but not found any more`),
  ]
}

type Problem = { rule: string; isError: boolean; message: string; where: string }

async function redocly(source: string): Promise<Problem[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ severity, ruleId, message, location }) => ({
    rule: ruleId,
    isError: severity === 'error',
    message,
    where: location[0]?.pointer ?? '',
  }))
}

async function spectral(source: string): Promise<Problem[]> {
  const linter = new Spectral()
  linter.setRuleset(SPECTRAL as RulesetDefinition)
  const problems = await linter.run(source)
  return problems.map(({ severity, code, message, path }) => ({
    rule: String(code),
    isError: severity === 0,
    message,
    where: `#/${path.join('/')}`,
  }))
}
