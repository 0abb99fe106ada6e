import { CLIENT, ISSUER } from '../idp/issuer.ts'
import { STATE_ROOT } from './paths.ts'

/**
 * The text that npm start prints when the server is ready. Its commands can be pasted into sh, bash and zsh.
 *
 * @param idp the address of the local identity provider, if there is one
 */
export function welcome(url: string, idp: string | null): string {
  // The other scripts find the server through the same folder.
  const elsewhere =
    process.env.LOCAL_STATE_DIR === undefined ? '' : ' Set LOCAL_STATE_DIR for npm run demo and npm run send too.'
  const provider =
    idp === null
      ? ''
      : `
  The identity provider: issuer ${ISSUER}, client id ${CLIENT.client_id}, client secret ${CLIENT.client_secret}
  Only this server knows that issuer. Your browser is sent to ${idp}, where you choose who signs in.
`
  const json = `-H 'Content-Type: application/json'`
  const field = (name: string) => `| sed -E 's/.*"${name}":"([^"]+)".*/\\1/'`
  return `
  Ready: ${url}          API description: ${url}/openapi.json

  The console: ${url}/console   (sign in with any email address; the code is printed here)
${provider}
  In another terminal, npm run demo shows everything at work. Or step by step:

  1. Request a sign-in code. It is printed here, with a line to paste that puts your session token into $TOKEN.

curl -s ${url}/auth/codes ${json} -d '{"email":"you@example.com"}'

  2. With $TOKEN set, create a project, mint an API key in it, and use the key:

PROJECT=$(curl -s ${url}/platform/v1/projects -H "Authorization: Bearer $TOKEN" ${json} -d '{"name":"First"}' ${field('id')})
KEY=$(curl -s ${url}/platform/v1/api-keys -H "Authorization: Bearer $TOKEN" -H "X-Project-Id: $PROJECT" ${json} -d '{"name":"first key"}' ${field('secret')})
curl -s ${url}/platform/v1/api-keys -H "Authorization: Bearer $KEY" -H "X-Project-Id: $PROJECT"

  3. Send a folder of events, signed as the vendor would: npm run send -- FOLDER --vendor stripe

  Ctrl-C stops the server. Its data is kept in ${STATE_ROOT}/state.${elsewhere}
`
}
