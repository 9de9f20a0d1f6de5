import { type ComponentProps, type ReactNode, useId } from "react";
import styles from "./Field.module.css";

interface Props {
  label: ReactNode;
  /** What it means, or what it takes. */
  hint?: ReactNode;
  /** What is wrong with it: what was expected, what came. */
  error?: string | null | undefined;
  /** Gets the ids: `(props) => <input {...props} />`. */
  children: (props: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}

/** A labelled thing to fill in, with its hint and its error. */
export function Field({ label, hint, error, children }: Props) {
  const id = useId();
  const message = error ?? hint;
  return (
    <div className={styles.field} data-wrong={error ? true : undefined}>
      <label htmlFor={id}>{label}</label>
      {children({ id, ...(message ? { "aria-describedby": `${id}-message` } : {}), ...(error ? { "aria-invalid": true as const } : {}) })}
      {message && (
        <div id={`${id}-message`} className={styles.message} role={error ? "alert" : undefined}>
          {message}
        </div>
      )}
    </div>
  );
}

type FieldTexts = { label: ReactNode; hint?: ReactNode; error?: string | null };

/** A field of one line. */
export function TextField({ label, hint, error, ...rest }: FieldTexts & Omit<ComponentProps<"input">, "id">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => <input type="text" autoComplete="off" {...rest} {...props} />}
    </Field>
  );
}

/** A field of several lines; it grows with what is in it. */
export function AreaField({ label, hint, error, ...rest }: FieldTexts & Omit<ComponentProps<"textarea">, "id">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => <textarea rows={3} {...rest} {...props} />}
    </Field>
  );
}

/** One of several. `options`: value and name. */
export function SelectField({
  label,
  hint,
  error,
  options,
  ...rest
}: FieldTexts & Omit<ComponentProps<"select">, "id"> & { options: readonly (readonly [value: string, name: string])[] }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => (
        <select {...rest} {...props}>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Yes or no. */
export function CheckField({ label, hint, ...rest }: { label: ReactNode; hint?: ReactNode } & Omit<ComponentProps<"input">, "id" | "type">) {
  return (
    <div className={styles.check}>
      <label>
        <input type="checkbox" {...rest} />
        <span>{label}</span>
      </label>
      {hint && <div className={styles.message}>{hint}</div>}
    </div>
  );
}
