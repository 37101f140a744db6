// The box itself: disk, queues, who is told, what was deleted, the log.

import { useEffect, useState } from "preact/hooks";
import { type System, base } from "../api";
import { bytes, exactly, span, toMs } from "../format";
import { Card, Facts, Failure, Segments, Table, useLoaded, useTitle } from "../parts/basics";
import { t } from "../texts";

export function SystemPage() {
  useTitle(t.system.title);
  const [count, recount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => recount((before) => before + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  const { value, error, reload } = useLoaded<System>("/system", count);
  if (error) return <Failure error={error} retry={reload} />;
  if (!value) return <p class="loading">{t.loading}</p>;
  const { disk } = value;
  const { columns } = t.system;
  return (
    <div class="system">
      <header class="page-head">
        <div>
          <h1>{t.system.title}</h1>
          <p class="lead">
            {t.product} {value.version}, {t.system.uptime.toLowerCase()} {span(value.uptime_seconds * 1000)}.
          </p>
        </div>
      </header>
      <div class="columns three">
        <Card title={t.system.disk}>
          <Facts
            rows={[
              [t.system.free, bytes(disk.free_bytes)],
              [t.system.history, bytes(disk.history_bytes)],
              [
                t.system.sound,
                disk.sound_budget_bytes === null
                  ? bytes(disk.sound_bytes)
                  : t.system.ofBudget(bytes(disk.sound_bytes), bytes(disk.sound_budget_bytes)),
              ],
            ]}
          />
          {disk.sound_budget_bytes !== null && (
            <progress max={disk.sound_budget_bytes || 1} value={disk.sound_bytes} aria-label={t.system.sound} />
          )}
        </Card>
        <Card title={t.system.queues}>
          {value.queues.length === 0 ? (
            <p class="empty-line">{t.system.queuesNone}</p>
          ) : (
            <Facts rows={value.queues.map((queue) => [queue.name, t.system.waiting(queue.waiting)])} />
          )}
        </Card>
        <Card title={t.system.sinks}>
          {value.sinks.length === 0 ? (
            <p class="empty-line">{t.system.sinksNone}</p>
          ) : (
            <Facts
              rows={value.sinks.map((sink) => [
                sink.name,
                sink.last_problem ? (
                  <span class="bad">
                    {sink.last_problem} ({t.system.waiting(sink.waiting)})
                  </span>
                ) : sink.waiting === 0 ? (
                  t.system.delivers
                ) : (
                  t.system.waiting(sink.waiting)
                ),
              ])}
            />
          )}
        </Card>
      </div>
      <Log log={value.log} />
      <Card title={t.system.deletions}>
        {value.deletions.length === 0 ? (
          <p class="empty-line">{t.system.deletionsNone}</p>
        ) : (
          <Table
            class="tall"
            label={t.system.deletions}
            columns={[columns.time, columns.what, columns.count, columns.size, columns.why]}
          >
            {value.deletions.map((row, index) => (
              <tr key={index}>
                <td>{exactly(row.time)}</td>
                <td>{row.what}</td>
                <td>{row.count.toLocaleString("en")}</td>
                <td>{row.bytes === 0 ? "–" : bytes(row.bytes)}</td>
                <td>{row.reason}</td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
      <p class="hint">
        <a href={`${base}/openapi.json`} target="_blank" rel="noopener">
          {t.system.api}
        </a>{" "}
        ·{" "}
        <a href="/metrics" target="_blank" rel="noopener">
          {t.system.metrics}
        </a>
      </p>
    </div>
  );
}

function Log({ log }: { log: System["log"] }) {
  const [level, choose] = useState("");
  const levels = [...new Set(log.map((line) => line.level.toLowerCase()))].sort();
  const shown = log.filter((line) => level === "" || line.level.toLowerCase() === level);
  return (
    <Card
      title={t.system.log}
      aside={
        levels.length > 1 ? (
          <Segments
            label={t.system.logFilter}
            value={level}
            choose={choose}
            options={[["", t.system.logAll], ...levels.map((each) => [each, each] as [string, string])]}
          />
        ) : undefined
      }
    >
      {shown.length === 0 ? (
        <p class="empty-line">{t.system.logNone}</p>
      ) : (
        <ol class="log" tabIndex={0} aria-label={t.system.log}>
          {[...shown]
            .sort((a, b) => toMs(b.time) - toMs(a.time))
            .map((line, index) => (
              <li key={index} class={`level-${line.level.toLowerCase()}`}>
                <time>{exactly(line.time)}</time>
                <b>{line.level.toLowerCase()}</b>
                <span>{line.text}</span>
              </li>
            ))}
        </ol>
      )}
    </Card>
  );
}
