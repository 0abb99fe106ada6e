import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { URL_OF_CONSOLE } from './browser.ts'

/** The paths of the pages about members, by name, in a project that gets a member and invitations. */
export async function memberPaths({ token, project, empty }: { token: string; project: string; empty: string }) {
  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, { token, project, ...(json !== undefined && { json }) })
  const invite = (email: string, role: string) => api<{ id: string }>('invitations', { email, role })
  const invitation = await invite('quite.a.long.address.of.somebody@engineering.example.com', 'developer')
  await invite('pages-guest@example.com', 'admin')
  const guest = await signInByApi(URL_OF_CONSOLE, 'pages-guest@example.com')
  const asGuest = { token: guest.token, json: {} }
  const { data } = await must<{ data: { id: string }[] }>(`${URL_OF_CONSOLE}/auth/invitations`, { token: guest.token })
  await must(`${URL_OF_CONSOLE}/auth/invitations/${data[0]?.id}/accept`, asGuest)
  const theirs = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, {
    token: guest.token,
    json: { name: 'Somebody else’s' },
  })
  const own = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/invitations`, {
    token: guest.token,
    project: theirs.id,
    json: { email: 'pages@example.com', role: 'viewer' },
  })
  const [member] = (await api<{ data: { user_id: string }[] }>('members')).data
  const base = `/console/p/${project}/platform`
  return {
    'members-empty': `/console/p/${empty}/platform/settings/members`,
    members: `${base}/settings/members`,
    invitations: `${base}/settings/members/invitations`,
    'remove-member': `${base}/settings/members/${member?.user_id}/remove`,
    leave: `${base}/settings/members/leave`,
    'revoke-invitation': `${base}/settings/members/invitations/${invitation.id}/revoke`,
    invitation: `/console/invitations/${own.id}`,
    'invitation-missing': '/console/invitations/inv_none',
  }
}
