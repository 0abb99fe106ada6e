import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command } from '../../scripts/lib/command.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { sleep } from '../../scripts/lib/terminal.ts'
import { freePort } from './server.ts'

const ALERTS = join(ROOT, 'docs/operate/alerts.yml')
const DASHBOARD = join(ROOT, 'docs/operate/grafana.json')
const WITHIN_MS = 300_000

type Panels = { panels: { title: string; targets?: { expr: string }[] }[] }
type Rule = { name: string; health: string; state: string; lastError?: string }
type Answer<T> = { status: string; error?: string; data: T }

/** Whether a Prometheus is installed, of Debian's packages for example. */
export function hasPrometheus(): Promise<boolean> {
  return command('prometheus', ['--version']).then(
    () => true,
    () => false,
  )
}

/**
 * Lets a Prometheus scrape the server: it takes the alert rules, evaluates each of them, and answers each query of the dashboard.
 *
 * @throws if it refuses one, if a query finds nothing, or if an alert fires although all is well
 */
export async function tryMonitoring(url: string, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'prometheus.yml')
  writeFileSync(config, configOf(url, metricsToken()))
  await command('promtool', ['check', 'config', config])
  const address = `127.0.0.1:${await freePort()}`
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ]
  const prometheus = spawn('prometheus', [...flags, '--log.level=error'], { stdio: ['ignore', 'inherit', 'inherit'] })
  const ask = async <T>(path: string): Promise<Answer<T> | null> => {
    const response = await fetch(`http://${address}/api/v1/${path}`).catch(() => null)
    // It answers with 503 until it is ready.
    if (response === null || response.status === 503) return null
    return (await response.json()) as Answer<T>
  }
  try {
    const queries = queriesOf(readFileSync(DASHBOARD, 'utf8'))
    for (const { title, expr } of queries) {
      await until(async () => {
        const answer = await ask<{ result: unknown[] }>(`query?query=${encodeURIComponent(expr)}`)
        if (answer && answer.status !== 'success') throw new Error(`${title}: ${expr}: ${answer.error}`)
        return answer !== null && answer.data.result.length > 0
      }, `${title}: ${expr} finds nothing`)
    }
    let rules: Rule[] = []
    await until(async () => {
      const answer = await ask<{ groups: { rules: Rule[] }[] }>('rules')
      rules = answer?.data.groups.flatMap((group) => group.rules) ?? []
      return rules.length > 0 && rules.every(({ health }) => health !== 'unknown')
    }, 'the rules were not evaluated')
    const wrong = rules.filter(({ health, state }) => health !== 'ok' || state === 'firing')
    if (wrong.length > 0) throw new Error(JSON.stringify(wrong))
    return `Prometheus evaluated ${rules.length} alerts and answered ${queries.length} queries of the dashboard`
  } finally {
    prometheus.kill('SIGKILL')
  }
}

function configOf(url: string, token: string): string {
  return JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [ALERTS],
    scrape_configs: [
      {
        job_name: 'platform-api',
        authorization: { credentials: token },
        static_configs: [{ targets: [new URL(url).host] }],
      },
    ],
  })
}

/** The token that npm start has made for its own server. */
function metricsToken(): string {
  const [, token] = /^METRICS_TOKEN=(\S+)$/m.exec(readFileSync(join(ROOT, '.dev.vars'), 'utf8')) ?? []
  if (!token) throw new Error('.dev.vars has no METRICS_TOKEN')
  return token
}

function queriesOf(dashboard: string): { title: string; expr: string }[] {
  const { panels } = JSON.parse(dashboard) as Panels
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
}

async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; !(await isSo()); await sleep(200)) {
    if (Date.now() > end) throw new Error(otherwise)
  }
}
