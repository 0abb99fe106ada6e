import type { Context } from 'hono'
import { html } from 'hono/html'
import { FAULTS, type FaultName } from '../lib/fault'
import { codeOf, ERRORS } from './errors'

/** The table of error codes as a page. The `type` of every problem points here. */
export function errorsPage(c: Context) {
  // Faults that share a code share a row; the row's id is the fragment that `type` names.
  const rows = [...Map.groupBy(FAULTS, codeOf)].map(([code, faults]) => {
    const status = faults.map((fault) => ERRORS[fault].status).join(', ')
    return { status, code, title: ERRORS[faults[0] as FaultName].title }
  })
  rows.sort((a, b) => (a.status < b.status ? -1 : 1))
  c.header('Content-Security-Policy', "default-src 'none'")
  return c.html(html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Error codes</title>
  </head>
  <body>
    <h1>Error codes</h1>
    <p>Every error is problem+json (RFC 9457). Write code against <code>code</code>, which is stable. <code>detail</code> explains what to do next.</p>
    <table>
      <thead>
        <tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr>
      </thead>
      <tbody>
        ${rows.map(({ status, code, title }) => html`<tr><td>${status}</td><td><a id="${code}" href="#${code}"><code>${code}</code></a></td><td>${title}</td></tr>`)}
      </tbody>
    </table>
  </body>
</html>`)
}
