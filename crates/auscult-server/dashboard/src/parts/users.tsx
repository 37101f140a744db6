// Who may log in, and what they may do.

import { useState } from "preact/hooks";
import { type List, type Role, type User, write } from "../api";
import { sentence } from "../format";
import { loadSession, say } from "../store";
import { t } from "../texts";
import { Card, Confirm, Dialog, Failure, Form, Options, Table, useAction, useLoaded } from "./basics";

const ROLES: Role[] = ["viewer", "operator", "administrator"];

export function Users() {
  const { value, error, reload } = useLoaded<List<User>>("/users");
  const [removing, remove] = useState<string | null>(null);
  const [changing, change] = useState<string | null>(null);
  const [run, busy] = useAction();
  const after = async () => {
    reload();
    await loadSession();
  };
  const setRole = (name: string, role: string) =>
    run(async () => {
      await write("PATCH", `/users/${encodeURIComponent(name)}`, { role });
      await after();
    });
  const add = (form: HTMLFormElement) =>
    run(async () => {
      const values = new FormData(form);
      await write("POST", "/users", {
        name: values.get("name"),
        role: values.get("role"),
        password: values.get("password"),
      });
      form.reset();
      await after();
    });
  // The first user must be able to add others.
  const first = value?.items.length === 0 ? "administrator" : "viewer";
  return (
    <Card title={t.settings.users}>
      {error && <Failure error={error} retry={reload} />}
      {value && value.items.length > 0 && (
        <Table columns={[t.settings.name, t.settings.role, t.settings.actions]}>
          {value.items.map((user) => (
            <tr key={user.name}>
              <td>{user.name}</td>
              <td>
                <select
                  aria-label={`${t.settings.role}: ${user.name}`}
                  value={user.role}
                  disabled={busy}
                  onChange={(input) => setRole(user.name, input.currentTarget.value)}
                >
                  <Options of={ROLES.map((role) => [role, t.roles[role]])} />
                </select>
              </td>
              <td>
                <span class="buttons tight">
                  <button type="button" class="small" onClick={() => change(user.name)}>
                    {t.settings.changePassword}
                  </button>
                  <button type="button" class="small" onClick={() => remove(user.name)}>
                    {t.settings.remove}
                  </button>
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <h3>{t.settings.addUser}</h3>
      <p class="hint">{sentence(ROLES.map((role) => `${t.roles[role]}: ${t.settings.roleText[role]}`).join("; "))}</p>
      <Form class="fields" send={add}>
        <label>
          {t.settings.name}
          <input name="name" required autocomplete="off" />
        </label>
        <label>
          {t.settings.role}
          <select name="role" key={first}>
            <Options of={ROLES.map((role) => [role, t.roles[role]])} chosen={first} />
          </select>
        </label>
        <label>
          {t.settings.password}
          <input
            name="password"
            type="password"
            required
            minLength={10}
            autocomplete="new-password"
            placeholder={t.settings.passwordHint}
          />
        </label>
        <button type="submit" class="primary" disabled={busy} aria-label={t.settings.addUser}>
          {t.settings.add}
        </button>
      </Form>
      {removing !== null && (
        <Confirm
          title={t.settings.removeUser(removing)}
          close={() => remove(null)}
          act={async () => {
            await write("DELETE", `/users/${encodeURIComponent(removing)}`);
            await after();
          }}
        />
      )}
      {changing !== null && <Password name={changing} close={() => change(null)} />}
    </Card>
  );
}

function Password({ name, close }: { name: string; close: () => void }) {
  const [run, busy] = useAction();
  const save = (form: HTMLFormElement) =>
    run(async () => {
      await write("PATCH", `/users/${encodeURIComponent(name)}`, { password: new FormData(form).get("password") });
      say(t.actions.done);
      close();
    });
  return (
    <Dialog title={`${t.settings.newPassword}: ${name}`} close={close}>
      <Form send={save}>
        <label>
          {t.settings.newPassword}
          <input name="password" type="password" required minLength={10} autocomplete="new-password" />
          <small>{t.settings.passwordHint}</small>
        </label>
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {t.actions.yes}
          </button>
          <button type="button" onClick={close}>
            {t.cancel}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
