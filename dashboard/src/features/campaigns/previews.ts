import { graphql } from '../../graphql/index.ts';

export const CampaignPreview = graphql(`
  query CampaignPreview($id: BigInt!, $at: DateTime, $local_at: String) {
    preview_campaign(id: $id, at: $at, local_at: $local_at) {
      preview_id
      audience
      recipients
      segments
      credits
      cost
      currency
      eta_seconds
      excluded {
        reason
        description
        count
      }
      histogram {
        segments
        count
      }
      encodings {
        encoding
        count
      }
      characters {
        character
        replacement
        texts
        credits
      }
      zones {
        zones
        opens_at
        count
      }
      findings {
        rule
        severity
        text
        advice
      }
      samples {
        contact_id
        phone
        body
        encoding
        segments
        credits
        missing
      }
    }
  }
`);
