"""The writer that needs no model: it reads the brief by rules and answers in patterns that people use."""

from app.providers.writers.template.writer import TemplateWriter as TemplateWriter
