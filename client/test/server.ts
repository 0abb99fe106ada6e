import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (response: ServerResponse, request: IncomingMessage & { text: string }) => unknown

/** A server on a port of its own. `requests`: those that came, in their order. */
export async function serve(answer: Answer) {
  const requests: { method: string; path: string; headers: IncomingMessage['headers']; text: string; at: number }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    const { method = '', url: path = '', headers } = request
    requests.push({ method, path, headers, text, at: Date.now() })
    await answer(response, Object.assign(request, { text }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close }
}

/** Answers in turn; the last answer is repeated. */
export function inTurn(...answers: Answer[]): Answer {
  return (response, request) => (answers.length > 1 ? answers.shift() : answers[0])?.(response, request)
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { status, code, detail: 'Do something.', request_id: 'req_1' }, { 'X-Request-Id': 'req_1', ...headers })
