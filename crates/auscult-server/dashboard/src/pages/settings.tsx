// You, users, tokens, and who changed what.

import { useState } from "preact/hooks";
import { type AuditLine, type List, type Role, type Token, type User, write } from "../api";
import { exactly } from "../format";
import { Card, Confirm, Dialog, Failure, Moment, Segments, useAction, useLoaded, useTitle } from "../parts/basics";
import { go } from "../router";
import { loadSession, say, session, unfollow, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";
import { type Theme, chooseTheme, theme } from "../theme";

const ROLES: Role[] = ["viewer", "operator", "administrator"];
const SCOPES = Object.keys(t.settings.scopeText);

export function SettingsPage() {
  useTitle(t.settings.title);
  const now = useStore(session);
  const [look, setLook] = useState<Theme>(theme());
  const [run, busy] = useAction();
  const logout = () =>
    run(async () => {
      await write("DELETE", "/session");
      unfollow();
      await loadSession();
      go("/login");
    });
  const isAdministrator = maySee(now?.user?.role, "administrator");
  return (
    <div class="settings">
      <header class="page-head">
        <div>
          <h1>{t.settings.title}</h1>
        </div>
      </header>
      <div class="columns">
        <Card title={t.settings.account}>
          <p>
            {now?.user && now.csrf !== null
              ? t.settings.loggedIn(now.user.name, t.roles[now.user.role])
              : t.settings.local}
          </p>
          {now?.csrf != null && (
            <div class="buttons">
              <button type="button" disabled={busy} onClick={logout}>
                {t.settings.logout}
              </button>
            </div>
          )}
        </Card>
        <Card title={t.settings.appearance}>
          <Segments
            label={t.settings.appearance}
            value={look}
            choose={(value) => {
              chooseTheme(value);
              setLook(value);
            }}
            options={Object.entries(t.settings.themes) as [Theme, string][]}
          />
        </Card>
      </div>
      {isAdministrator ? (
        <>
          <Users />
          <Tokens />
          <Audit />
        </>
      ) : (
        <p class="hint">{t.settings.onlyAdministrators}</p>
      )}
    </div>
  );
}

function Users() {
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
  return (
    <Card title={t.settings.users}>
      {error && <Failure error={error} retry={reload} />}
      {value && value.items.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{t.settings.name}</th>
                <th scope="col">{t.settings.role}</th>
                <th scope="col">{t.settings.actions}</th>
              </tr>
            </thead>
            <tbody>
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
                      {ROLES.map((role) => (
                        <option key={role} value={role}>
                          {t.roles[role]}
                        </option>
                      ))}
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
            </tbody>
          </table>
        </div>
      )}
      <h3>{t.settings.addUser}</h3>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void add(event.currentTarget);
        }}
      >
        <label>
          {t.settings.name}
          <input name="name" required autocomplete="off" />
        </label>
        <label>
          {t.settings.role}
          <select
            name="role"
            defaultValue={value?.items.length === 0 ? "administrator" : "viewer"}
            key={String(value?.items.length === 0)}
          >
            {ROLES.map((role) => (
              <option
                key={role}
                value={role}
                selected={role === (value?.items.length === 0 ? "administrator" : "viewer")}
              >
                {t.roles[role]}: {t.settings.roleText[role]}
              </option>
            ))}
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
      </form>
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
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
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
      </form>
    </Dialog>
  );
}

function Tokens() {
  const { value, error, reload } = useLoaded<List<Token>>("/tokens");
  const [made, setMade] = useState<Token | null>(null);
  const [revoking, revoke] = useState<Token | null>(null);
  const [run, busy] = useAction();
  const add = (form: HTMLFormElement) =>
    run(async () => {
      const values = new FormData(form);
      const days = String(values.get("days") ?? "");
      const body = {
        name: values.get("name"),
        scopes: values.getAll("scope"),
        ...(days === "" ? {} : { expires_days: Number(days) }),
      };
      setMade(await write<Token>("POST", "/tokens", body));
      form.reset();
      reload();
    });
  const columns = t.settings.tokenColumns;
  return (
    <Card title={t.settings.tokens}>
      <p class="hint">{t.settings.tokensText}</p>
      {error && <Failure error={error} retry={reload} />}
      {made?.secret && (
        <p class="secret" role="status">
          {t.settings.secret} <code>{made.secret}</code>
          <button
            type="button"
            class="small"
            onClick={() => void navigator.clipboard?.writeText(made.secret ?? "").then(() => say(t.settings.copied))}
          >
            {t.settings.copy}
          </button>
        </p>
      )}
      {value &&
        (value.items.length === 0 ? (
          <p class="empty-line">{t.settings.noTokens}</p>
        ) : (
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">{columns.name}</th>
                  <th scope="col">{columns.scopes}</th>
                  <th scope="col">{columns.expires}</th>
                  <th scope="col">{t.settings.actions}</th>
                </tr>
              </thead>
              <tbody>
                {value.items.map((token) => (
                  <tr key={token.id ?? token.name}>
                    <td>{token.name}</td>
                    <td>{token.scopes.join(", ")}</td>
                    <td>{token.expires == null ? t.settings.never : exactly(token.expires)}</td>
                    <td>
                      <button type="button" class="small" onClick={() => revoke(token)}>
                        {t.settings.revoke}
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ))}
      <h3>{t.settings.addToken}</h3>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void add(event.currentTarget);
        }}
      >
        <label>
          {t.settings.name}
          <input name="name" required autocomplete="off" />
        </label>
        <fieldset class="scopes">
          <legend>{t.settings.scopes}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} title={t.settings.scopeText[scope]}>
              <input type="checkbox" name="scope" value={scope} defaultChecked={scope === "read"} />
              {scope}
              <small>{t.settings.scopeText[scope]}</small>
            </label>
          ))}
        </fieldset>
        <label>
          {t.settings.expires}
          <input name="days" type="number" min={1} max={3650} />
        </label>
        <button type="submit" class="primary" disabled={busy} aria-label={t.settings.addToken}>
          {t.settings.add}
        </button>
      </form>
      {revoking && (
        <Confirm
          title={t.settings.revokeAsk(revoking.name)}
          close={() => revoke(null)}
          act={async () => {
            await write("DELETE", `/tokens/${encodeURIComponent(revoking.id ?? revoking.name)}`);
            reload();
          }}
        />
      )}
    </Card>
  );
}

function Audit() {
  const { value, error, reload } = useLoaded<List<AuditLine>>("/audit?limit=50");
  const columns = t.settings.auditColumns;
  return (
    <Card title={t.settings.audit}>
      {error && <Failure error={error} retry={reload} />}
      {value &&
        (value.items.length === 0 ? (
          <p class="empty-line">{t.settings.noAudit}</p>
        ) : (
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">{columns.time}</th>
                  <th scope="col">{columns.who}</th>
                  <th scope="col">{columns.what}</th>
                </tr>
              </thead>
              <tbody>
                {value.items.map((line, index) => (
                  <tr key={index}>
                    <td>
                      <Moment time={line.time} />
                    </td>
                    <td>{line.who}</td>
                    <td>{[line.action, line.subject, line.text].filter(Boolean).join(" · ")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ))}
    </Card>
  );
}
